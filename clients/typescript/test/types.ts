/** Checked by the compiler alone: what may be written, and what may not. */

import type {
  Intention,
  ProspectiveMemoryItem,
  ProspectiveTriggerType,
  Schemas,
} from "../lib/index.js";
import { Remembrancer } from "../lib/index.js";

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T => true as T;

/** AgentOS's fourteen properties. */
interface Expected {
  id: string;
  content: string;
  triggerType: ProspectiveTriggerType;
  triggerAt?: number;
  triggerEvent?: string;
  cueEmbedding?: number[];
  cueText?: string;
  similarityThreshold?: number;
  importance: number;
  triggered: boolean;
  recurring: boolean;
  createdAt: number;
  sourceTraceId?: string;
  tierRank?: number;
}

holds<Same<ProspectiveMemoryItem, Expected>>();
holds<Same<ProspectiveTriggerType, "time_based" | "event_based" | "context_based">>();

/** What the server shows is one, unless it is composite. */
type Plain = Omit<Intention, "triggerType"> & { triggerType: ProspectiveTriggerType };
holds<Plain extends ProspectiveMemoryItem ? true : false>();

export async function calls(memory: Remembrancer): Promise<void> {
  await memory.retain("x", { tags: ["a"], timestamp: new Date(), background: true, bank: "b" });
  await memory.recall("x", { as_of: new Date(), types: ["world"], budget: "low" });
  await memory.list({ q: "x", limit: 5, bank: "b" });
  const status = await memory.request("get", "/v1/status", {});
  holds<Same<typeof status, Schemas["StatusResponse"]>>();

  // @ts-expect-error: a misspelled field
  await memory.recall("x", { budgett: "low" });
  // @ts-expect-error: no such value
  await memory.recall("x", { budget: "huge" });
  // @ts-expect-error: a path that there is not
  await memory.request("get", "/v1/nothing", {});
  // @ts-expect-error: a method that the path does not take
  await memory.request("delete", "/v1/status", {});
  // @ts-expect-error: the path's parameter is missing
  await memory.request("get", "/v1/default/banks/{bank_id}/profile", {});
  // @ts-expect-error: the body is missing
  await memory.request("post", "/v1/prime", {});
}
