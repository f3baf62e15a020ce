export {
  type Fault,
  type FaultPlan,
  type FaultyStore,
  faultAt,
  MemoryStore,
  type StoreCall,
  withFaults,
} from "../storage/index.ts";
export { FakeClock } from "./fake-clock.ts";
