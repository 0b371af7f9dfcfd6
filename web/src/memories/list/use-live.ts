import { Code, ConnectError } from "@connectrpc/connect";
import { useEffect, useRef, useState } from "react";
import { memoryClient, noteFailure } from "../../session/client";
import { refreshMemories } from "../../session/refresh";

/** Pauses before the next attempt after a watch broke; the last one is repeated. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** The server says something every 15 seconds: after this time without a word, the connection is dead. */
const SILENCE_MS_MAX = 40_000;
/** Time in which several changes reload the list once. */
const GATHER_MS = 700;
/** New memories that are remembered, to mark them. */
const FRESH_MAX = 100;

export type LiveState = "off" | "connecting" | "live" | "paused" | "refused";

/** Watches a namespace while the page is visible, and reloads what shows its memories when it changes. */
export function useLive(namespace: string, isOn: boolean) {
  const [state, setState] = useState<LiveState>("off");
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const isHidden = useHidden();
  // A watch that goes on later begins where the last one ended.
  const position = useRef("");
  useEffect(() => {
    if (!isOn || isHidden) {
      setState(isOn ? "paused" : "off");
      if (!isOn) position.current = "";
      return;
    }
    const stop = new AbortController();
    const gather = gatherer(refreshMemories);
    const onStored = (id: string) => setFresh((before) => new Set([...before, id].slice(-FRESH_MAX)));
    void follow({
      namespace,
      position,
      signal: stop.signal,
      onState: setState,
      onStored,
      onChange: gather.note,
    });
    return () => {
      stop.abort();
      gather.stop();
    };
  }, [namespace, isOn, isHidden]);
  return { state, fresh };
}

interface Following {
  readonly namespace: string;
  readonly position: { current: string };
  readonly signal: AbortSignal;
  onState(state: LiveState): void;
  onStored(id: string): void;
  onChange(): void;
}

/** Watches, and again when the watch breaks, ever less often, until the signal aborts. */
async function follow(following: Following): Promise<void> {
  const { signal, position, onState } = following;
  let failures = 0;
  while (!signal.aborted) {
    onState("connecting");
    try {
      for await (const _ of eventsOf(following)) failures = 0;
    } catch (error) {
      const { code } = ConnectError.from(error);
      if (signal.aborted) return;
      if (code === Code.Unauthenticated) return noteFailure(error);
      if (code === Code.PermissionDenied) return onState("refused");
      // The position is of a log that has ended.
      if (code === Code.FailedPrecondition) position.current = "";
    }
    await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0, signal);
    failures++;
  }
}

/** Yields for each event, after it was told. @throws ConnectError if the watch breaks or falls silent. */
async function* eventsOf({ namespace, position, signal, onState, onStored, onChange }: Following) {
  const silent = new AbortController();
  const request = { namespace, position: position.current };
  let timer = setTimeout(() => silent.abort(), SILENCE_MS_MAX);
  let isFirst = request.position === "";
  try {
    const events = memoryClient.watchNamespace(request, { signal: AbortSignal.any([signal, silent.signal]) });
    for await (const { event, position: next } of events) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE_MS_MAX);
      position.current = next;
      onState("live");
      if (event.case === "stored") onStored(event.value.id);
      // What came before the watch began is loaded anew.
      if (isFirst || event.case !== "heartbeat") onChange();
      isFirst = false;
      yield;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Calls back once for all changes that come within a short time. */
function gatherer(callBack: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    note: () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        callBack();
      }, GATHER_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** True if the page is hidden, such as in a tab behind others. */
function useHidden(): boolean {
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const onChange = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", onChange);
    return () => document.removeEventListener("visibilitychange", onChange);
  }, []);
  return isHidden;
}
