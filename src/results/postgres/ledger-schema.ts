import { quoteName } from "../quote-name.ts";
import { leaseFunction } from "./lease-function.ts";
import type { Migration } from "./migrate.ts";
import { settleFunction } from "./settle-function.ts";
import { startFunction } from "./start-function.ts";

/**
 * What our schema holds for a ledger, version by version. A released migration never changes; a new one is added.
 *
 * `visible_at` is null when an item is claimable at once, else the end of its lease, claim or delay. `is_started` says that the
 * lease is a running claim; a claim without it ran out, and the next start charges it. An index names only `state` and `visible_at`,
 * so that a start, which changes neither as a rule, writes no index (a heap-only update, for which pages keep some room).
 *
 * `tally` holds what every transaction changed in the totals, as rows to be summed up: one row that all of them counted in would make
 * them wait for each other, and counting millions of items anew would make every look at the depth a long one.
 */
export function ledgerMigrations(schema: string): readonly Migration[] {
  const s = quoteName(schema);
  return [
    [
      `CREATE TABLE ${s}.publications (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  opened_at timestamptz NOT NULL DEFAULT now(),
  closed_at timestamptz
)`,
      `CREATE TABLE ${s}.items (
  seq bigint GENERATED ALWAYS AS IDENTITY,
  visible_at timestamptz,
  added_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  generation integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  interruptions integer NOT NULL DEFAULT 0,
  lonely integer NOT NULL DEFAULT 0,
  accepted integer NOT NULL DEFAULT 0,
  late integer NOT NULL DEFAULT 0,
  is_started boolean NOT NULL DEFAULT false,
  is_alone boolean NOT NULL DEFAULT false,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'done', 'dead')),
  id text PRIMARY KEY,
  holder text,
  claim text,
  settled_claim text,
  settled_as text,
  late_claim text,
  error text,
  data json NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05)`,
      `CREATE TABLE ${s}.tally (
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  added bigint NOT NULL DEFAULT 0,
  done bigint NOT NULL DEFAULT 0,
  dead bigint NOT NULL DEFAULT 0,
  settled bigint NOT NULL DEFAULT 0,
  interruptions bigint NOT NULL DEFAULT 0,
  late bigint NOT NULL DEFAULT 0
)`,
      `CREATE INDEX items_ready ON ${s}.items (seq) WHERE state = 'pending' AND visible_at IS NULL`,
      `CREATE INDEX items_held ON ${s}.items (visible_at) WHERE visible_at IS NOT NULL`,
      `CREATE INDEX items_sent ON ${s}.items (seq) WHERE state = 'sent'`,
      `CREATE INDEX items_dead ON ${s}.items (seq) WHERE state = 'dead'`,
      leaseFunction(schema),
      startFunction(schema),
      settleFunction(schema),
    ],
  ];
}
