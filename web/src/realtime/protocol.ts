/**
 * The wire format of the `godel-events-v1` WebSocket subprotocol.
 *
 * OpenAPI cannot describe frames, so these are written by hand; the events inside are the same
 * as those of the HTTP API.
 */

import type { EventMetadata, GodelEvent } from "../api/types";

export const SUBPROTOCOL = "godel-events-v1";

/** Events that will not arrive, both ends included. */
export interface Gap {
  fromSequence: number;
  toSequence: number;
  /** `missing` is our own finding: the server skipped numbers without a notice. */
  reason: "slow" | "retention" | "missing";
}

/** Why the server said no. */
export interface Refusal {
  code: string;
  message: string;
  hint?: string | undefined;
}

export interface SubscribeRequest {
  patterns: string[];
  after?: number;
  policy: "block" | "drop" | "sliding";
}

export type ClientFrame =
  | { id: string; type: "subscribe"; timestamp: string; payload: SubscribeRequest }
  | { id: string; type: "unsubscribe"; timestamp: string; payload: { subscriptionId: string } }
  | { id: string; type: "ping"; timestamp: string; payload: Record<string, never> };

export type ServerFrame =
  | { type: "subscribed"; replyTo: string; subscriptionId: string; head: number }
  | { type: "refused"; replyTo: string | undefined; refusal: Refusal }
  | { type: "events"; subscriptionId: string | undefined; events: GodelEvent[] }
  | { type: "lagged"; subscriptionId: string | undefined; gap: Gap }
  /** `head` is the last event that was sent to us, if there was one. */
  | { type: "pong"; head: number | undefined }
  | { type: "other" };

type Json = Record<string, unknown>;

/** Reads one frame; anything unknown or malformed becomes `other` and is skipped. */
export function parseFrame(text: string): ServerFrame {
  const frame = parseObject(text);
  if (!frame) return { type: "other" };
  const payload = asObject(frame.payload) ?? {};
  const metadata = asObject(frame.metadata) ?? {};
  const subscriptionId = asString(metadata.subscriptionId);
  switch (frame.type) {
    case "response":
      return parseResponse(payload, asString(metadata.correlationId));
    case "event":
      return { type: "events", subscriptionId, events: parseEvents([frame.payload]) };
    case "events":
      return { type: "events", subscriptionId, events: parseEvents(payload.events) };
    case "lagged":
      return parseLagged(payload, subscriptionId);
    case "pong":
      return { type: "pong", head: asSequence(payload.head) };
    case "error":
      return {
        type: "refused",
        replyTo: asString(metadata.correlationId),
        refusal: parseRefusal(payload),
      };
    default:
      return { type: "other" };
  }
}

function parseResponse(payload: Json, replyTo: string | undefined): ServerFrame {
  if (payload.success === false) {
    return { type: "refused", replyTo, refusal: parseRefusal(asObject(payload.error) ?? payload) };
  }
  const data = asObject(payload.data) ?? {};
  const subscriptionId = asString(data.subscriptionId);
  const head = asSequence(data.head);
  if (!replyTo || !subscriptionId || head === undefined) return { type: "other" };
  return { type: "subscribed", replyTo, subscriptionId, head };
}

function parseLagged(payload: Json, subscriptionId: string | undefined): ServerFrame {
  const fromSequence = asSequence(payload.fromSequence);
  const toSequence = asSequence(payload.toSequence);
  if (fromSequence === undefined || toSequence === undefined) return { type: "other" };
  const reason = payload.reason === "retention" ? "retention" : "slow";
  return { type: "lagged", subscriptionId, gap: { fromSequence, toSequence, reason } };
}

function parseRefusal(body: Json): Refusal {
  return {
    code: asString(body.code) ?? "unknown",
    message: asString(body.message) ?? "the server refused without a reason",
    hint: asString(body.hint),
  };
}

function parseEvents(value: unknown): GodelEvent[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => parseEvent(item) ?? []);
}

function parseEvent(value: unknown): GodelEvent | undefined {
  const body = asObject(value);
  const sequence = asSequence(body?.sequence);
  const type = asString(body?.type);
  if (!body || sequence === undefined || type === undefined) return undefined;
  const source = asObject(body.source);
  return {
    id: asString(body.id) ?? String(sequence),
    sequence,
    type,
    timestamp: asString(body.timestamp) ?? "",
    source: {
      component: asString(source?.component) ?? "unknown",
      instance: asString(source?.instance) ?? null,
      version: asString(source?.version) ?? null,
    },
    payload: asObject(body.payload) ?? {},
    metadata: parseMetadata(asObject(body.metadata) ?? {}),
  };
}

/** Keeps the ids; the wire leaves out what is not known. */
function parseMetadata(body: Json): EventMetadata {
  const known = Object.entries(body).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(known) as EventMetadata;
}

function parseObject(text: string): Json | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Json)
    : undefined;
}

function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function asSequence(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
