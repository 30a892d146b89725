/** What is to be done later: AgentOS's `ProspectiveMemoryItem`, and the server's own additions. */
const NAMES = [
    "id",
    "content",
    "triggerType",
    "triggerAt",
    "triggerEvent",
    "cueEmbedding",
    "cueText",
    "similarityThreshold",
    "importance",
    "triggered",
    "recurring",
    "createdAt",
    "sourceTraceId",
    "tierRank",
];
/**
 * Return AgentOS's properties of an intention and no others; undefined for a composite one, which
 * AgentOS does not know.
 */
export function prospective(intention) {
    if (intention.triggerType === "composite")
        return undefined;
    const told = NAMES.filter((name) => intention[name] !== undefined);
    return Object.fromEntries(told.map((name) => [name, intention[name]]));
}
