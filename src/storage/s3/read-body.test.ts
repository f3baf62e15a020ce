import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { readBody } from "./read-body.ts";

const bytes = (text: string) => Buffer.from(text);

it("fills the buffer from parts of any size", async () => {
  const body = new PassThrough();
  const target = new Uint8Array(6);
  const read = readBody(body, target, undefined);
  body.write("ab");
  body.write("c");
  body.end("def");
  await read;
  expect(Buffer.from(target).toString()).toBe("abcdef");
});

it.each([
  ["short", "abc", "3 bytes came instead of 4"],
  ["long", "abcde", "5 bytes came instead of 4"],
  ["empty", "", "0 bytes came instead of 4"],
])("refuses a body that is too %s", async (_, text, message) => {
  const body = new PassThrough();
  const read = readBody(body, new Uint8Array(4), undefined);
  body.end(text);
  await expect(read).rejects.toMatchObject({ name: "WrongLengthError", message });
  expect(body.destroyed).toBe(true);
});

it("passes a broken connection on, and takes one that just closes for a short body", async () => {
  const broken = new PassThrough();
  const read = readBody(broken, new Uint8Array(4), undefined);
  const reset = new Error("reset");
  broken.destroy(reset);
  await expect(read).rejects.toBe(reset);

  const closed = new PassThrough();
  const other = readBody(closed, new Uint8Array(4), undefined);
  closed.destroy();
  await expect(other).rejects.toMatchObject({ name: "WrongLengthError" });
});

it("touches the buffer no more once it was told to stop", async () => {
  const body = new PassThrough();
  const target = new Uint8Array(4);
  const controller = new AbortController();
  const read = readBody(body, target, controller.signal);
  body.write(bytes("ab"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(target[1]).toBe(98);
  const reason = new Error("deadline");
  controller.abort(reason);
  await expect(read).rejects.toBe(reason);
  expect(body.destroyed).toBe(true);
  body.emit("data", bytes("xx"));
  expect([...target]).toEqual([97, 98, 0, 0]);

  const late = readBody(new PassThrough(), target, controller.signal);
  await expect(late).rejects.toBe(reason);
});
