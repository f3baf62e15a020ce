import { expect, it } from "vitest";
import { fileError } from "./file-error.ts";

it.each([
  ["ENOSPC", "OUTLAST_DISK_FULL", "give-up"],
  ["EDQUOT", "OUTLAST_DISK_FULL", "give-up"],
  ["EACCES", "OUTLAST_FILE_FAILED", "give-up"],
  ["EIO", "OUTLAST_FILE_FAILED", "retry"],
])("reads %s on a local file as %s, %s", (system, code, recovery) => {
  const cause = Object.assign(new Error(`${system}: x`), { code: system });
  const error = fileError(cause, "write", "/dir/model.bin");
  expect(error).toMatchObject({ code, recovery, operation: "write", target: "/dir/model.bin", cause });
  expect(error.hint).toBeTruthy();
});
