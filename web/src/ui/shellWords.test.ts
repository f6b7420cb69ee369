import { expect, it } from "vitest";
import { messageCli } from "../features/agents/MessageDialog";
import { EMPTY_FORM, spawnCli } from "../features/agents/spawn/form";
import { createCli } from "../features/convoys/NewConvoy";
import { stopCli } from "../features/estop/queries";
import { cliOf } from "../features/inbox/NoticeCard";
import { answerCli, wishCli } from "../features/intents/wish";
import { pauseCli } from "../features/landing/PauseDialog";

/** What a shell would run, and what would end a quotation. */
const TEXT = `it's "$(x)" \`y\``;
const QUOTED = `'it'\\''s "$(x)" \`y\`'`;

it.each([
  [messageCli("ann", TEXT), "godel agent message ann"],
  [spawnCli({ ...EMPTY_FORM, task: TEXT }), "godel agent spawn"],
  [createCli(TEXT, []), "godel convoy create"],
  [stopCli(TEXT), "godel estop --reason"],
  [cliOf({ id: "n1" }, TEXT), "godel inbox answer n1"],
  [wishCli({ text: TEXT }), "godel do"],
  [answerCli("i1", TEXT), "godel do --answer i1"],
  [pauseCli("app", TEXT), "godel land pause --project app --reason"],
])("G12 a shell runs nothing of what somebody wrote: %s", (said, command) => {
  expect(said).toBe(`${command} ${QUOTED}`);
});
