import fc from "fast-check";
import { expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { isOutlastError } from "../../src/core/index.ts";
import {
  buildManifests,
  explainWorkload,
  renderFiles,
  renderStream,
  type WorkloadManifest,
} from "../../src/manifests/index.ts";
import { parseWorkloads } from "../../src/spec/workload/index.ts";
import { arbitrarySpec } from "./arbitrary-spec.ts";
import { readHcl } from "./hcl-reader.ts";
import { faultsOf } from "./rules.ts";

const options = { outlastImage: "outlast:test" };
const runs = process.env["OUTLAST_SOAK"] ? 20_000 : 300;

/** What a spec becomes; undefined when it contradicts itself, which is refused by one kind of error only. */
function build(text: string): readonly WorkloadManifest[] | undefined {
  try {
    return buildManifests(parseWorkloads(text, "outlast.yaml").workloads, options);
  } catch (error) {
    if (!isOutlastError(error, "OUTLAST_CONFIG")) throw error;
    expect(error.hint).toBeTruthy();
    return undefined;
  }
}

test("any spec is refused with a reason, or yields objects that the platform takes and YAML that says the same", () => {
  let accepted = 0;
  fc.assert(
    fc.property(arbitrarySpec, (spec) => {
      const text = stringify(spec);
      const made = build(text);
      if (!made) return;
      accepted += 1;
      for (const one of made) expect(faultsOf(one)).toEqual([]);
      const objects = made.flatMap((one) => one.objects.map(({ object }) => object));
      const stream = renderStream(made);
      // kubectl reads YAML 1.1, most others 1.2.
      for (const version of ["1.2", "1.1"] as const) {
        const read = parseAllDocuments(stream, { version }) as { toJS: () => unknown; errors: unknown[] }[];
        expect(read.flatMap(({ errors }) => errors)).toEqual([]);
        expect(read.map((document) => document.toJS())).toEqual(objects);
      }
      expect(JSON.parse(JSON.stringify(objects))).toEqual(objects);
      const files = renderFiles(made);
      expect([...files].filter(([name]) => name.endsWith(".yaml")).map(([, body]) => parse(body) as unknown)).toEqual(
        objects,
      );
      expect(renderStream(build(text) ?? [])).toBe(stream);
      for (const { terraform, workload } of made) {
        const [pool] = readHcl(terraform);
        if (pool) expect(pool.attributes["project"]).toBe(workload.cluster.project ?? "PROJECT");
      }
      for (const { workload } of made) expect(explainWorkload(workload).length).toBeGreaterThan(1);
    }),
    { numRuns: runs },
  );
  // A generator that only ever contradicts itself would prove nothing.
  expect(accepted).toBeGreaterThan(runs / 20);
}, 600_000);

test("a spec with slips of the fingers is refused in words or understood, never a crash", () => {
  const slip = fc.tuple(
    fc.nat(),
    fc.nat({ max: 6 }),
    fc.constantFrom("", ":", "- ", "\n", "  ", "{", "&a ", "*a", "!!", "'", '"', "#", "\t", "\0", "kind", "0", "null"),
  );
  fc.assert(
    fc.property(arbitrarySpec, fc.array(slip, { minLength: 1, maxLength: 3 }), (spec, slips) => {
      let text = stringify(spec);
      for (const [at, gone, come] of slips) {
        const index = at % (text.length + 1);
        text = text.slice(0, index) + come + text.slice(index + gone);
      }
      build(text);
    }),
    { numRuns: runs },
  );
}, 600_000);
