/** What the generated types say of a route: its parameters, its body and its answer. */
import type { components, paths } from "../types/openapi.js";
/** The shapes of bodies and answers, by their names in the server's OpenAPI document. */
export type Schemas = components["schemas"];
/** A path of the server, such as `/v1/default/banks/{bank_id}/memories`. */
export type Path = keyof paths;
/** The methods that a path takes. */
export type Method<P extends Path> = {
    [M in "get" | "post" | "put" | "patch" | "delete"]: paths[P][M] extends object ? M : never;
}["get" | "post" | "put" | "patch" | "delete"];
type Told<O, K extends "path" | "query"> = O extends {
    parameters: infer A;
} ? K extends keyof A ? Exclude<A[K], undefined> : never : never;
type Json<T> = T extends {
    content: {
        "application/json": infer B;
    };
} ? B : unknown;
/** A property that may be left out only where all of it may be. */
type Property<K extends string, T> = [T] extends [never] ? unknown : object extends T ? {
    [N in K]?: T;
} : {
    [N in K]: T;
};
type Body<O> = O extends {
    requestBody: infer R;
} ? {
    body: Json<R>;
} : O extends {
    requestBody?: infer R;
} ? [Exclude<R, undefined>] extends [never] ? unknown : {
    body?: Json<Exclude<R, undefined>>;
} : unknown;
/** What a request of a route takes: `path`, `query` and `body`, where there are any. */
export type Parameters<P extends Path, M extends Method<P>> = Property<"path", Told<paths[P][M], "path">> & Property<"query", Told<paths[P][M], "query">> & Body<paths[P][M]>;
/** The JSON that a route answers. */
export type Answer<P extends Path, M extends Method<P>> = paths[P][M] extends {
    responses: infer R;
} ? Json<R[keyof R]> : unknown;
export {};
