import { expect, it } from "vitest";
import { storeError } from "./system-error.ts";

it.each([
  ["ENOSPC", "put", "OUTLAST_DISK_FULL", "give-up"],
  ["EDQUOT", "put", "OUTLAST_DISK_FULL", "give-up"],
  ["EACCES", "put", "OUTLAST_STORE_NOT_WRITABLE", "give-up"],
  ["EROFS", "put", "OUTLAST_STORE_NOT_WRITABLE", "give-up"],
  ["EACCES", "get", "OUTLAST_STORE_FAILED", "give-up"],
  ["EIO", "get", "OUTLAST_STORE_FAILED", "retry"],
  ["ESTALE", "list", "OUTLAST_STORE_FAILED", "retry"],
  ["ETIMEDOUT", "put", "OUTLAST_STORE_FAILED", "retry"],
  ["EBUSY", "delete", "OUTLAST_STORE_FAILED", "retry"],
  ["EMFILE", "put", "OUTLAST_STORE_FAILED", "retry"],
  ["ENOENT", "put", "OUTLAST_STORE_FAILED", "retry"],
  ["ELOOP", "put", "OUTLAST_STORE_FAILED", "give-up"],
])("reads %s under %s as %s, %s", (system, operation, code, recovery) => {
  const cause = Object.assign(new Error(`${system}: x`), { code: system });
  const error = storeError(cause, operation, "a/b");
  expect(error).toMatchObject({ code, recovery, operation, target: "a/b", cause });
  expect(error.message).toContain(system);
  expect(error.hint).toBeTruthy();
});
