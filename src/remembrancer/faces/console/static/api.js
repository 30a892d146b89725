// Talks to the HTTP interface with the visitor's key, which stays in this tab.

const KEY = "remembrancer.key";
const ROOT = new URL("../", location.href);
const RETRY_MS = 2000;
const MOST_RETRY_MS = 30000;

/** A request that was refused or not answered. `status` 0: the server could not be reached. */
export class ApiError extends Error {
  constructor(message, status, field = null) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  clear: () => sessionStorage.removeItem(KEY),
};

/** Return a path below a bank. */
export function ofBank(bank, ...rest) {
  return ["v1/default/banks", encodeURIComponent(bank), ...rest].join("/");
}

/** Percent-encode one part of a path. */
export const part = encodeURIComponent;

export const get = (path, query, options) => call("GET", path, { query, ...options });
export const post = (path, body = {}, options) => call("POST", path, { body, ...options });
export const patch = (path, body, options) => call("PATCH", path, { body, ...options });
export const put = (path, body, options) => call("PUT", path, { body, ...options });
export const remove = (path, options) => call("DELETE", path, options);

async function call(method, path, { query, body, signal, headers } = {}) {
  const sent = { ...authorization(), ...headers };
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(address(path, query), {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      credentials: "omit",
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer. Is it still running?", 0);
  }
  const told = await read(response);
  if (!response.ok) throw refused(response.status, told);
  return told;
}

/** Send files with one progress report after the other: a share from 0 to 1. */
export function upload(path, files, onProgress) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  form.append("request", JSON.stringify({
    files_metadata: files.map((file) => ({ document_id: file.name })),
  }));
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // fetch does not tell how much has been sent
    request.open("POST", address(path));
    for (const [name, value] of Object.entries(authorization())) {
      request.setRequestHeader(name, value);
    }
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(request.response);
      else reject(refused(request.status, request.response));
    });
    request.addEventListener("error", () => {
      reject(new ApiError("The upload was cut off. Is the server still running?", 0));
    });
    request.send(form);
  });
}

/**
 * Follow server-sent events until the returned function is called; a lost connection is made again
 * where it broke off. Not an EventSource, which cannot send a key.
 */
export function follow(path, onEvent, onState = () => {}) {
  const stopping = new AbortController();
  let last = null;
  const run = async () => {
    let wait = RETRY_MS;
    while (!stopping.signal.aborted) {
      try {
        const headers = { ...authorization(), Accept: "text/event-stream" };
        if (last !== null) headers["Last-Event-ID"] = last;
        const response = await fetch(address(path), {
          headers, signal: stopping.signal, credentials: "omit", cache: "no-store",
        });
        if (response.status === 401 || response.status === 403) return;
        if (!response.ok) throw new ApiError("no stream", response.status);
        onState(true);
        wait = RETRY_MS;
        for await (const event of events(response.body)) {
          if (event.id) last = event.id;
          onEvent(event);
        }
      } catch {
        if (stopping.signal.aborted) return;
      }
      onState(false);
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(2 * wait, MOST_RETRY_MS);
    }
  };
  run();
  return () => stopping.abort();
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = {};
      for (const line of block.split("\n")) {
        const at = line.indexOf(": ");
        if (at > 0) event[line.slice(0, at)] = line.slice(at + 2);
      }
      if (event.data) yield { ...event, data: JSON.parse(event.data) };
    }
  }
}

function address(path, query = {}) {
  const url = new URL(path, ROOT);
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) {
      if (each !== null && each !== undefined && each !== "") url.searchParams.append(name, each);
    }
  }
  return url;
}

function authorization() {
  const value = key.get();
  return value ? { Authorization: `Bearer ${value}` } : {};
}

async function read(response) {
  const text = await response.text();
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return { message: `The server answered ${response.status} in words of its own.` };
  }
}

function refused(status, told) {
  const first = Array.isArray(told?.detail) ? told.detail[0] : null;
  const message = first?.msg ?? told?.detail ?? told?.message ?? `The server answered ${status}.`;
  if (status === 401) dispatchEvent(new CustomEvent("signed-out", { detail: message }));
  return new ApiError(String(message), status, first?.field ?? null);
}
