/** A typed client for a running Remembrancer server. */

export {
  Remembrancer,
  type Call,
  type CheckFields,
  type DueEvent,
  type ForgetFields,
  type Item,
  type Moment,
  type PrimeFields,
  type RecallFields,
  type ReflectFields,
  type Reminder,
} from "./client.js";
export {
  Conflict,
  DeadlineExceeded,
  Forbidden,
  InvalidInput,
  NotFound,
  RateLimited,
  RemembrancerError,
  StoreBusy,
  StoreError,
  TooLarge,
  Unauthenticated,
} from "./errors.js";
export {
  prospective,
  type Due,
  type Intention,
  type Occurrence,
  type ProspectiveMemoryItem,
  type ProspectiveTriggerType,
} from "./prospective.js";
export type { Answer, Method, Parameters, Path, Schemas } from "./routes.js";
export { VERSION, type Options } from "./sending.js";
export type { components, operations, paths } from "../types/openapi.js";
