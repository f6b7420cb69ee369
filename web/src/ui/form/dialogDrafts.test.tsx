import { act, fireEvent, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeServer } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { Convoy, Task } from "../../api/types";
import { SpawnDrawer } from "../../features/agents/spawn/SpawnDrawer";
import { CloseDialog } from "../../features/beads/CloseDialog";
import { bead } from "../../features/beads/fakeBead";
import { BeadGraph } from "../../features/beads/graph";
import { About } from "../../features/beads/panel/About";
import { BeadFacts } from "../../features/beads/panel/BeadFacts";
import { TitleField } from "../../features/beads/TitleField";
import { EditConvoy } from "../../features/convoys/EditConvoy";
import { NewConvoy } from "../../features/convoys/NewConvoy";
import { StartConvoyDrawer } from "../../features/convoys/StartConvoyDrawer";
import { EstopDialog } from "../../features/estop/EstopDialog";
import { PauseDialog } from "../../features/landing/PauseDialog";
import { askForReason, ReasonHost } from "../../features/queue/ReasonDialog";

const nothing = () => undefined;
const CONVOY: Convoy = {
  id: "c1",
  projectId: "p",
  name: "Night",
  beads: [],
  status: "active",
  createdAt: "2026-11-16T10:00:00Z",
  updatedAt: "2026-11-16T10:00:00Z",
};
const TASK = { id: "t1", title: "Build", state: "ready" } as Task;
const WHY = "Why, for those who come later";
const started = (
  <StartConvoyDrawer
    convoy={CONVOY}
    graph={new BeadGraph([])}
    past={null}
    runtime=""
    onClose={nothing}
  />
);

interface Asked {
  part: ReactNode;
  label: string;
  /** What is written; some fields take no words. */
  text?: string;
  /** What opens it. */
  open?: () => void;
}

/** What a person writes in, besides the forms that ask before they go away. */
const ASKED: Readonly<Record<string, Asked>> = {
  "the name of a new agent": { part: <SpawnDrawer onClose={nothing} />, label: "Name" },
  "the budget of a new agent": {
    part: <SpawnDrawer onClose={nothing} />,
    label: "Budget in dollars",
    text: "2.5",
  },
  "the agents of a convoy": { part: started, label: "Agents at once", text: "7" },
  "the budget of a convoy": {
    part: started,
    label: "Budget of all together, in dollars",
    text: "7",
  },
  "the model of a convoy": { part: started, label: "Model" },
  "another name of a convoy": {
    part: <EditConvoy convoy={CONVOY} onClose={nothing} />,
    label: "Name",
  },
  "what a convoy is about": {
    part: <EditConvoy convoy={CONVOY} onClose={nothing} />,
    label: "What it is about",
  },
  "the name of a new convoy": { part: <NewConvoy beads={[]} onClose={nothing} />, label: "Name" },
  "why beads are closed": {
    part: <CloseDialog beads={[bead("b-1")]} onClose={nothing} onClosed={nothing} />,
    label: "Why",
  },
  "why a queue stands still": {
    part: <PauseDialog name="app" onClose={nothing} onPause={nothing} />,
    label: WHY,
  },
  "why all stands still": {
    part: <EstopDialog onClose={nothing} onStop={nothing} />,
    label: WHY,
  },
  "why a task is cancelled": {
    part: <ReasonHost />,
    label: WHY,
    open: () => act(() => void askForReason([TASK])),
  },
  "the title of a bead": {
    part: <TitleField bead={bead("b-1")} isEditing onEditing={nothing} />,
    label: "Title",
  },
  "the estimate of a bead": {
    part: <BeadFacts bead={bead("b-1")} />,
    label: "Estimate",
    text: "2h",
    open: () => fireEvent.click(screen.getByRole("button", { name: "Edit: Estimate" })),
  },
};

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
  fakeServer({});
});

describe.each(Object.entries(ASKED))("G2 %s", (_, { part, label, text = "words", open }) => {
  const field = () => screen.getByLabelText<HTMLInputElement>(label);
  const show = () => {
    const shown = renderPart(part);
    open?.();
    return shown;
  };

  it("is there again for who went back in the middle of it", async () => {
    const first = show();
    fireEvent.change(await screen.findByLabelText(label), { target: { value: text } });
    first.unmount();
    show();
    await screen.findByLabelText(label);
    expect(field().value).toBe(text);
  });
});

describe("G2 what was sent is no draft any more", () => {
  it("of a new convoy", () => {
    send(<NewConvoy beads={[]} onClose={nothing} />, "Name");
    expect(sessionStorage).toHaveLength(0);
  });

  it("of a pause", () => {
    send(<PauseDialog name="app" onClose={nothing} onPause={nothing} />, WHY);
    expect(sessionStorage).toHaveLength(0);
  });

  it("of a title, saved or given up", () => {
    const part = <TitleField bead={bead("b-1")} isEditing onEditing={nothing} />;
    renderPart(part);
    const title = screen.getByLabelText("Title");
    for (const key of ["Escape", "Enter"]) {
      fireEvent.change(title, { target: { value: "Another" } });
      expect(sessionStorage, key).toHaveLength(1);
      fireEvent.keyDown(title, { key });
      expect(sessionStorage, key).toHaveLength(0);
    }
  });
});

const FIELDS = "input, textarea";

describe("G2 what was refused is a draft again", () => {
  it.each([
    ["the name of a new convoy", <NewConvoy key="new" beads={[]} onClose={nothing} />, "Name"],
    ["another name", <EditConvoy key="edit" convoy={CONVOY} onClose={nothing} />, "Name"],
    [
      "why beads are closed",
      <CloseDialog key="close" beads={[bead("b-1")]} onClose={nothing} onClosed={nothing} />,
      "Why",
    ],
    ["a title", <TitleField key="t" bead={bead("b-1")} isEditing onEditing={nothing} />, "Title"],
    ["what is to be done", <About key="about" bead={bead("b-1")} />, "Description"],
  ])("%s", async (_, part, label) => {
    const first = renderPart(part);
    const begin = () => {
      const edit = screen.queryByRole("button", { name: `Edit: ${label}` });
      if (edit) fireEvent.click(edit);
    };
    begin();
    const field = () => screen.getByLabelText<HTMLInputElement>(label, { selector: FIELDS });
    fireEvent.change(field(), { target: { value: "words" } });
    if (field().form) fireEvent.submit(field());
    else fireEvent.keyDown(field(), { key: "Enter", ctrlKey: true });
    expect(sessionStorage).toHaveLength(0);
    // No server is there, so it is refused.
    await vi.waitFor(() => expect(sessionStorage).toHaveLength(1));
    first.unmount();
    renderPart(part);
    begin();
    expect(field().value).toBe("words");
  });
});

/** Writes into the field of a question, and answers it. */
function send(part: ReactNode, label: string): void {
  renderPart(part);
  const field = screen.getByLabelText(label);
  fireEvent.change(field, { target: { value: "words" } });
  expect(sessionStorage).toHaveLength(1);
  fireEvent.submit(field);
}
