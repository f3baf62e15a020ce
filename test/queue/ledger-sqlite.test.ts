import { describeRandomWorkers } from "./ledger-random.ts";
import { describeLedger } from "./ledger-suite.ts";
import { openSqliteLedger } from "./sqlite-world.ts";

describeLedger("SQLite", openSqliteLedger);
describeRandomWorkers("SQLite", openSqliteLedger, process.env["OUTLAST_SOAK"] ? 2_000 : 40);
