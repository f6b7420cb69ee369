/**
 * What a call may say and what it gets, told by its path alone.
 *
 * Types only: a path is taken apart segment by segment, and found among the `paths` that the server
 * described. So a call cannot disagree with the server without the type check noticing.
 */

import type { paths } from "./schema.gen";

/** How the description calls the methods. */
export type Method = "get" | "post" | "put" | "patch" | "delete";

/** `/beads/{id}/log` as `/beads/{}/log`: what a parameter is called does not matter to a call. */
type Shape<Path> = Path extends `${infer Before}{${string}}${infer After}`
  ? `${Before}{}${Shape<After>}`
  : Path;
type Routes = { [Path in keyof paths as Shape<Path>]: paths[Path] };

/** Every beginning of every route, to know at each segment whether the server has it literally. */
type Beginnings<Rest, Before extends string = ""> = Rest extends `/${infer Segment}/${infer After}`
  ? `${Before}/${Segment}` | Beginnings<`/${After}`, `${Before}/${Segment}`>
  : `${Before}${Rest & string}`;
type Known = Beginnings<keyof Routes>;

/** Whether something in it is only known when it runs; such a type is no single key of a record. */
type IsOpen<Segment extends string> =
  Record<never, never> extends Record<Segment, 1> ? true : false;

/** The route up to and with a segment; one that has its own route is not taken for a parameter. */
type Step<Before extends string, Segment extends string> =
  IsOpen<Segment> extends true
    ? `${Before}/{}`
    : `${Before}/${Segment}` extends Known
      ? `${Before}/${Segment}`
      : `${Before}/{}`;
type Walk<
  Rest extends string,
  Before extends string = "",
> = Rest extends `${infer Segment}/${infer After}`
  ? Walk<After, Step<Before, Segment>>
  : Step<Before, Rest>;
type WithoutQuery<Path> = Path extends `${infer Before}?${string}` ? Before : Path;
type RouteOf<Path> = WithoutQuery<Path> extends `/${infer Rest}` ? Walk<Rest> : "";

/** What the description says about a call; of several possible paths, about each. */
type Operation<M extends Method, Path> = Path extends unknown
  ? RouteOf<Path> extends infer Route extends keyof Routes
    ? Routes[Route] extends { [Key in M]: infer Found }
      ? Found
      : Refused<"the server has no such method here", M, Path>
    : Refused<"the server has no such path", M, Path>
  : never;

/** Why a call is not possible; the type check shows it at the path. */
interface Refused<Why extends string, M, Path> {
  refused: Why;
  call: [M, Path];
}
type AnyRefused = Refused<string, unknown, unknown>;
/** What a path has to be besides itself: nothing more, or something that no path is. */
type Accepted<Found> = [Extract<Found, AnyRefused>] extends [never]
  ? unknown
  : Extract<Found, AnyRefused>;

type Success = 200 | 201 | 202 | 204;
type Bare = Refused<
  "the answer is no envelope; read it with `download` or `call`",
  unknown,
  unknown
>;
/** What is in the envelope of an answer; one without content is a mere yes. */
type Unwrapped<Response> = Response extends { content: infer Content }
  ? Content extends { "application/json": { data: infer Data } }
    ? Data
    : Bare
  : undefined;
type DataOf<Found> = Found extends { responses: infer Responses }
  ? [keyof Responses & Success] extends [never]
    ? Bare
    : Unwrapped<Responses[keyof Responses & Success]>
  : Found;

/** What the server answers a call with, out of its envelope. */
export type Answer<M extends Method, Path> = DataOf<Operation<M, Path>>;
/** A path that the server answers with an envelope, for the method. */
export type Asked<M extends Method, Path> = Path & Accepted<Answer<M, Path>>;
/** The path of a file, which the server answers with as it is. */
export type FilePath<Path> = Path &
  ([Answer<"get", Path>] extends [Bare]
    ? unknown
    : Refused<"the server has no such file", "get", Path>);

/** What is undefined does not get into JSON, so it may stand where a field may be missing. */
type Loose<Body> = {
  [Key in keyof Body]: Record<never, never> extends Pick<Body, Key>
    ? Body[Key] | undefined
    : Body[Key];
};
type ContentOf<Found> = Found extends { requestBody: { content: infer Content } } ? Content : never;
type JsonOf<Found> = [ContentOf<Found>] extends [never]
  ? undefined
  : ContentOf<Found> extends { "application/json": infer Body }
    ? Loose<Body>
    : never;
/** Of several possible paths, what suits each of them. */
type BodyOf<Found> = (Found extends unknown ? (body: JsonOf<Found>) => void : never) extends (
  body: infer Body,
) => void
  ? Body
  : never;

/** What follows the path of a call that changes something: a body if the server wants one. */
export type Sent<M extends Method, Path> =
  BodyOf<Operation<M, Path>> extends infer Body
    ? undefined extends Body
      ? [body?: undefined, timeoutMs?: number]
      : [body: Body, timeoutMs?: number]
    : never;
/** The kinds of file that the server takes here. */
export type FileType<Path> = Exclude<
  keyof ContentOf<Operation<"post", Path>> & string,
  "application/json"
>;

/** The items of a list that is read page by page. */
export type ItemOf<Path> =
  Answer<"get", Path> extends { items: (infer Item)[]; pagination: object } ? Item : never;
/** The path of such a list. */
export type Listed<Path> = Asked<"get", Path> &
  ([ItemOf<Path>] extends [never]
    ? Refused<"this is no list in pages; read it with `get`", "get", Path>
    : unknown);
