/** Which field an answer about a task is about. */
export const TASK_WORDS = {
  title: /title/i,
  payload: /payload/i,
  pool: /pool/i,
  requires: /requires|capabilit/i,
  attempts: /maxAttempts|attempts/i,
  longestPause: /maxDelay/i,
  pause: /delayMs|delay/i,
  timeout: /timeout/i,
  session: /session/i,
} as const;
