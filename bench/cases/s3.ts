import type { BenchCase } from "../case.ts";
import { compareRemote } from "../remote/compare.ts";
import { versitygw } from "../remote/service.ts";

/** To an S3 server on loopback and back, beside tools that do the same and a bare HTTP loop. */
export const benchCase: BenchCase = { name: "s3", run: (context) => compareRemote(context, { service: versitygw }) };
