import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { referencePages } from "./pages.ts";

for (const [name, text] of Object.entries(referencePages())) {
  await writeFile(join(import.meta.dirname, "../../docs/reference", name), text);
}
