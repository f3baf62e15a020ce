import type { BenchCase } from "../case.ts";
import { compareRemote } from "../remote/compare.ts";
import { fakeGcsServer } from "../remote/service.ts";

/** To a GCS server on loopback and back, beside tools that do the same and a bare HTTP loop. */
export const benchCase: BenchCase = {
  name: "gcs",
  run: (context) =>
    compareRemote(context, {
      service: fakeGcsServer,
      whyNotRestic: "its gs backend knows no other server than Google's",
    }),
};
