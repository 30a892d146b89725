/** What is to be done later: AgentOS's `ProspectiveMemoryItem`, and the server's own additions. */
import type { Schemas } from "./routes.js";
/** What makes an item due: a time, a named event, or that its cue is talked about. */
export type ProspectiveTriggerType = "time_based" | "event_based" | "context_based";
/** AgentOS's type, property by property. Times are Unix milliseconds. */
export interface ProspectiveMemoryItem {
    id: string;
    /** What the agent should remember to do. */
    content: string;
    triggerType: ProspectiveTriggerType;
    /** Of `time_based`: when it falls due. */
    triggerAt?: number;
    /** Of `event_based`: the name of the event. */
    triggerEvent?: string;
    /** Of `context_based`: the vector of the cue; only in answers that were asked to include it. */
    cueEmbedding?: number[];
    /** Of `context_based`: the cue in words. */
    cueText?: string;
    /** Least cosine of what is talked about and the cue; 0.7 by default. */
    similarityThreshold?: number;
    /** 0 to 1. */
    importance: number;
    /** Whether it was handed over and acknowledged. */
    triggered: boolean;
    /** Whether it falls due again. */
    recurring: boolean;
    createdAt: number;
    /** The memory that it comes from, and goes with. */
    sourceTraceId?: string;
    /** It is withheld from checks whose `maxTierRank` is lower. */
    tierRank?: number;
}
/** A type without nulls: answers leave them out. */
type Present<T> = {
    [K in keyof T]: Exclude<T[K], null>;
};
type Triggered<T extends {
    triggerType: string;
}> = Omit<Present<T>, "triggerType"> & {
    triggerType: ProspectiveTriggerType | "composite";
};
/** An intention as the server shows it: the fourteen properties, its state and more. */
export type Intention = Triggered<Schemas["IntentionItem"]>;
/** One due instance of an intention. */
export type Occurrence = Present<Schemas["OccurrenceItem"]>;
/** An intention that is due, with the occurrence to acknowledge. */
export type Due = Triggered<Omit<Schemas["DueItem"], "occurrence">> & {
    occurrence: Occurrence;
};
/**
 * Return AgentOS's properties of an intention and no others; undefined for a composite one, which
 * AgentOS does not know.
 */
export declare function prospective(intention: Intention | Due): ProspectiveMemoryItem | undefined;
export {};
