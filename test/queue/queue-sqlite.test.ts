import { describeWorkQueue } from "./queue-suite.ts";
import { openSqliteQueue } from "./sqlite-world.ts";

describeWorkQueue("one SQLite file", () => openSqliteQueue("direct"));
describeWorkQueue("SQLite queue, results in another SQLite file", () => openSqliteQueue("split"));
