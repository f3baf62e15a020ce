import { describeBroker } from "./broker-suite.ts";
import { openSqliteBroker } from "./sqlite-world.ts";

describeBroker("SQLite", openSqliteBroker);
