/** Names for what the caller gave none, so that a request that is sent twice makes one thing. */
/** Return a random UUID (version 4, RFC 9562). */
export function uuid() {
    const bytes = new Uint8Array(16);
    // Node 18 has no global `crypto`; such a name has to be unlike others, not secret.
    if (globalThis.crypto)
        globalThis.crypto.getRandomValues(bytes);
    else
        bytes.forEach((_, place) => (bytes[place] = Math.floor(Math.random() * 256)));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [8, 12, 16, 20, 32]
        .map((end, place, ends) => hex.slice(ends[place - 1] ?? 0, end))
        .join("-");
}
