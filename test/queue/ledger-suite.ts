import { afterEach, beforeEach, describe } from "vitest";
import type { Ledger } from "../../src/results/index.ts";
import { describeLeases } from "./ledger-leases.ts";
import { describeMending } from "./ledger-mending.ts";
import { describePublishing } from "./ledger-publishing.ts";
import { describeSettling } from "./ledger-settling.ts";
import { describeStarting } from "./ledger-starting.ts";
import { describeTables } from "./ledger-tables.ts";
import { type LedgerUnderTest, LedgerWorker, type OpenLedger } from "./ledger-world.ts";

/** What a section of the suite works with; a new ledger for every test. */
export interface LedgerScene {
  readonly ledger: Ledger;
  readonly under: LedgerUnderTest;
  readonly w1: LedgerWorker;
  readonly w2: LedgerWorker;
}

/** The contract of `Ledger`: a database is done when it passes this. */
export function describeLedger(name: string, open: OpenLedger): void {
  describe(`ledger contract: ${name}`, () => {
    let scene: LedgerScene;
    beforeEach(async () => {
      const under = await open();
      const { ledger } = under;
      await ledger.prepare();
      const other = await under.openAgain();
      scene = { ledger, under, w1: new LedgerWorker(ledger, "w1"), w2: new LedgerWorker(other, "w2") };
    });
    afterEach(async () => {
      await scene.w2.ledger.close();
      await scene.under.dispose();
    });

    describePublishing(() => scene);
    describeLeases(() => scene);
    describeStarting(() => scene);
    describeSettling(() => scene);
    describeMending(() => scene);
    describeTables(open);
  });
}
