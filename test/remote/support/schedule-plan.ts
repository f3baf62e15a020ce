import type { Random } from "../../evictions/support/random.ts";
import type { ProxyFault } from "../../servers/fault-proxy.ts";
import type { ProxiedRequest } from "../../servers/fault-proxy-request.ts";

type Maker = (random: Random) => ProxyFault;

const laterMs = (random: Random) => Math.round(random.between(1, 25));
const at = (random: Random) => random.next();

const anywhere: readonly [Maker, ...Maker[]] = [
  () => ({ kind: "drop", when: "before" }),
  () => ({ kind: "drop", when: "after" }),
  (random) => ({ kind: "delay", ms: laterMs(random) }),
  () => ({ kind: "twice" }),
  () => ({ kind: "half-response", end: "reset" }),
  () => ({ kind: "half-response", end: "close" }),
];
const toWrites: readonly [Maker, ...Maker[]] = [
  ...anywhere,
  // The worst of all, and therefore more often: it was applied and nobody knows.
  () => ({ kind: "drop", when: "after" }),
  () => ({ kind: "twice" }),
  () => ({ kind: "half-request" }),
  (random) => ({ kind: "again-later", ms: laterMs(random) }),
  (random) => ({ kind: "ghost", ms: laterMs(random) }),
];
const toPuts: readonly [Maker, ...Maker[]] = [...toWrites, (random) => ({ kind: "flip-request", at: at(random) })];
const toGets: readonly [Maker, ...Maker[]] = [
  ...anywhere,
  () => ({ kind: "short-response" }),
  (random) => ({ kind: "flip-response", at: at(random) }),
];
const toLists: readonly [Maker, ...Maker[]] = [...anywhere, () => ({ kind: "short-response" })];

const refusals: readonly [ProxyFault, ...ProxyFault[]] = [
  { kind: "status", status: 503 },
  { kind: "status", status: 429 },
  { kind: "status", status: 503, body: "<html>upstream is away</html>" },
  { kind: "status", status: 500, body: "{" },
  { kind: "status", status: 502 },
  { kind: "status", status: 408 },
];

/** What the network does to one schedule's requests, drawn from its seed. */
export class SchedulePlan {
  readonly #random: Random;
  readonly #rate: number;
  readonly #stormRate: number;
  /** Every request and what was done to it, to be shown when something is wrong. */
  readonly trace: string[] = [];
  /** Keys whose answer was garbled. The same object twice would be damage, not a network. */
  readonly #garbled = new Set<string>();
  #storm = 0;
  #refusal: ProxyFault = refusals[0];
  #killIn = Number.POSITIVE_INFINITY;
  #onKill: () => void = () => {};

  constructor(random: Random) {
    this.#random = random;
    this.#rate = random.pick([0.02, 0.05, 0.1, 0.2, 0.35]);
    this.#stormRate = random.pick([0, 0.01, 0.03]);
  }

  /** The machine dies with its so-many-th request from now: nothing of it passes from then on. */
  killIn(requests: number, onKill: () => void): void {
    this.#killIn = requests;
    this.#onKill = onKill;
  }

  /** Another machine has taken over. */
  revive(): void {
    this.#killIn = Number.POSITIVE_INFINITY;
  }

  get isDead(): boolean {
    return this.#killIn <= 0;
  }

  readonly decide = (request: ProxiedRequest): ProxyFault | undefined => {
    const fault = this.#draw(request);
    const { verb, key } = request;
    this.trace.push(`${verb} ${key}${fault ? `: ${JSON.stringify(fault)}` : ""}`);
    return fault;
  };

  #draw({ verb, key }: ProxiedRequest): ProxyFault | undefined {
    const random = this.#random;
    this.#killIn -= 1;
    if (this.#killIn === 0) {
      this.#onKill();
      return random.pick<ProxyFault>([
        { kind: "drop", when: "before" },
        { kind: "drop", when: "after" },
        { kind: "ghost", ms: laterMs(random) },
        { kind: "half-request" },
      ]);
    }
    if (this.isDead) return { kind: "drop", when: "before" };
    if (this.#storm > 0) {
      this.#storm -= 1;
      return this.#refusal;
    }
    if (random.next() < this.#stormRate) {
      this.#storm = Math.floor(random.between(1, 14));
      this.#refusal = random.pick(refusals);
      return this.#refusal;
    }
    if (random.next() >= this.#rate) return undefined;
    if (random.next() < 0.15) return random.pick(refusals);
    const makers = verb === "put" ? toPuts : verb === "delete" ? toWrites : verb === "get" ? toGets : toLists;
    const fault = random.pick(makers)(random);
    if (fault.kind !== "flip-response" && fault.kind !== "short-response") return fault;
    if (this.#garbled.has(key)) return { kind: "drop", when: "after" };
    this.#garbled.add(key);
    return fault;
  }
}
