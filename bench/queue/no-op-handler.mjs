// The least a handler can do: each line is an item, each answer a line.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ id, result: { label: "cat", score: 0.97 } })}\n`);
}
