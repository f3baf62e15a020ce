import { styleText } from "node:util";
import type { Io, Output } from "../io.ts";

/** Colours text for a stream, or leaves it alone where colour is unwanted. */
export type Style = (format: "bold" | "dim" | "red" | "green" | "yellow", text: string) => string;

/** Colour only on a terminal and only when NO_COLOR is unset. */
export function styleFor(output: Output, env: Io["env"]): Style {
  const plain = !output.isTTY || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return plain ? (_, text) => text : (format, text) => styleText(format, text, { validateStream: false });
}
