import { QueryClientProvider } from "@tanstack/react-query";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEVELOPER, fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { makeEvent } from "../../../tests/fakeWire";
import type { Project, RepositoryJob } from "../../api/types";
import { newQueryClient } from "../../queryClient";
import { RuleRunner } from "../../realtime/rules";
import { SessionProvider } from "../../roles/session";
import { RepositoryStep } from "./RepositoryStep";
import { makeCli, makeOf, nameOfMade } from "./repository";
import { nameOfUrl } from "./steps";

const URL_ = "git@example.org:acme/shop.git";
const JOB: RepositoryJob = {
  id: "r1",
  kind: "clone",
  url: URL_,
  folder: "/home/ann/shop",
  state: "working",
  progress: "Receiving objects: 40%",
  startedAt: "2026-11-15T10:00:00Z",
};

const begun = () => history.replaceState(null, "", "/dashboard/welcome?way=clone&making=r1");
const param = (name: string) => new URLSearchParams(location.search).get(name);
const button = (name: string) => screen.getByRole("button", { name });

/** A server on which a repository is as far as it is at the moment. */
function serve(job: RepositoryJob) {
  let now = job;
  let project = () => ok({ id: "p1", name: "shop" });
  const calls = fakeServer({
    "POST /api/v1/repositories": () => ({ ...ok(now), status: 202 }),
    "GET /api/v1/repositories/r1": () => ok(now),
    "POST /api/v1/projects": () => project(),
  });
  const sent = () =>
    calls.filter(({ method }) => method === "POST").map(({ path, body }) => [path, body]);
  return {
    sent,
    becomes: (special: Partial<RepositoryJob>) => (now = { ...now, ...special }),
    refuses: (...told: Parameters<typeof refuse>) => (project = () => refuse(...told) as never),
    agrees: () => (project = () => ok({ id: "p1", name: "shop" })),
  };
}

function show(session = SESSION) {
  const client = newQueryClient();
  const view = render(
    <QueryClientProvider client={client}>
      <SessionProvider value={session}>
        <RepositoryStep project={undefined as Project | undefined} onDone={() => undefined} />
      </SessionProvider>
    </QueryClientProvider>,
  );
  const runner = new RuleRunner(client);
  const hear = (state: RepositoryJob["state"]) =>
    act(() => runner.apply([makeEvent(1, `repository:${state}`, { id: "r1", state })]));
  return { ...view, hear };
}

beforeEach(() => {
  sessionStorage.clear();
  history.replaceState(null, "", "/dashboard/welcome");
});

describe("C2 a repository that is not there yet", () => {
  it("is cloned, told how far it is, and made a project of when it is there", async () => {
    const { sent, becomes } = serve(JOB);
    const { hear } = show();
    fireEvent.click(button("A clone"));
    expect(param("way")).toBe("clone");
    expect(button("Clone it").getAttribute("aria-disabled")).toBe("true");
    fireEvent.change(screen.getByLabelText("URL of the repository"), { target: { value: URL_ } });
    screen.getByText(`godel project create shop --clone ${URL_}`);
    fireEvent.click(button("Clone it"));
    await screen.findByText("Receiving objects: 40%");
    expect(param("making")).toBe("r1");
    becomes({ progress: "Receiving objects: 90%" });
    fireEvent.click(button("Look again"));
    await screen.findByText("Receiving objects: 90%");
    becomes({ state: "ready" });
    hear("ready");
    await vi.waitFor(() => expect(param("project")).toBe("p1"));
    expect(sent()).toEqual([
      ["/api/v1/repositories", { clone: URL_ }],
      ["/api/v1/projects", { name: "shop", repository: "/home/ann/shop" }],
    ]);
    expect(param("making")).toBeNull();
    expect(param("way")).toBeNull();
    expect(sessionStorage.length).toBe(0);
  });

  it("goes on after a reload, with the name that was written", async () => {
    begun();
    sessionStorage.setItem("godel.draft.form.welcome.clone", JSON.stringify({ name: "Our shop" }));
    const { sent, becomes } = serve(JOB);
    const { hear } = show();
    await screen.findByText("Receiving objects: 40%");
    expect(button("Cloning").getAttribute("aria-disabled")).toBe("true");
    becomes({ state: "ready" });
    hear("ready");
    await vi.waitFor(() => expect(param("project")).toBe("p1"));
    expect(sent()).toEqual([
      ["/api/v1/projects", { name: "Our shop", repository: "/home/ann/shop" }],
    ]);
  });

  it("says at its field why it cannot be", async () => {
    fakeServer({
      "POST /api/v1/repositories": ({ body }) =>
        (body as { folder?: string }).folder
          ? refuse(409, "conflict", "the folder is not empty")
          : refuse(400, "invalid_request", "this is no URL that git knows"),
    });
    show();
    fireEvent.click(button("A clone"));
    const url = screen.getByLabelText("URL of the repository");
    fireEvent.change(url, { target: { value: "nonsense" } });
    fireEvent.click(button("Clone it"));
    await screen.findByText("This is no URL that git knows.");
    expect(url.getAttribute("aria-invalid")).toBe("true");
    const folder = screen.getByLabelText("Into this folder");
    fireEvent.change(folder, { target: { value: "/srv/full" } });
    fireEvent.click(button("Clone it"));
    await screen.findByText("The folder is not empty.");
    expect(folder.getAttribute("aria-invalid")).toBe("true");
  });

  it("says why it failed, and lets one try again", async () => {
    begun();
    const { becomes } = serve(JOB);
    const { hear } = show();
    await screen.findByText("Receiving objects: 40%");
    becomes({ state: "failed", why: "git may not read it: look at the keys of the server" });
    hear("failed");
    await screen.findByText("Git may not read it: look at the keys of the server.");
    expect(screen.getByLabelText("URL of the repository").getAttribute("aria-invalid")).toBe(
      "true",
    );
    expect(button("Clone it")).toBeTruthy();
  });

  it("gets another name if its own is taken", async () => {
    begun();
    const { sent, refuses, agrees } = serve({ ...JOB, state: "ready" });
    refuses(409, "conflict", "a project is called shop already");
    show();
    await screen.findByText("A project is called shop already.");
    agrees();
    fireEvent.change(screen.getByLabelText("Name of the project"), { target: { value: "shop 2" } });
    fireEvent.click(button("Add the project"));
    await vi.waitFor(() => expect(param("project")).toBe("p1"));
    expect(sent().at(-1)).toEqual([
      "/api/v1/projects",
      { name: "shop 2", repository: "/home/ann/shop" },
    ]);
  });

  it("is begun in an empty folder", async () => {
    const made = { ...JOB, kind: "new", state: "ready", folder: "/srv/fresh" } as const;
    const { sent } = serve(made);
    show();
    fireEvent.click(button("A new one"));
    fireEvent.change(screen.getByLabelText("Folder of the new repository"), {
      target: { value: "/srv/fresh" },
    });
    screen.getByText("godel project create fresh --new /srv/fresh");
    fireEvent.click(button("Make it"));
    await vi.waitFor(() => expect(param("project")).toBe("p1"));
    expect(sent()).toEqual([
      ["/api/v1/repositories", { folder: "/srv/fresh" }],
      ["/api/v1/projects", { name: "fresh", repository: "/srv/fresh" }],
    ]);
  });

  it("G14 is not made for who may not, nor by an address that somebody sent", async () => {
    begun();
    const { sent } = serve({ ...JOB, state: "ready" });
    show(DEVELOPER);
    await screen.findByText("/home/ann/shop");
    expect(button("Add the project").getAttribute("aria-disabled")).toBe("true");
    expect(sent()).toEqual([]);
  });
});

describe("its name and its command", () => {
  it.each([
    ["https://example.org/acme/app.git", "app"],
    ["https://example.org/acme/app/", "app"],
    ["git@example.org:app.git", "app"],
    ["/srv/git/app.git", "app"],
    ["https://example.org", ""],
    ["", ""],
  ])("%s is called %s", (url, name) => expect(nameOfUrl(url)).toBe(name));

  it("follow from what was said", () => {
    const place = { url: " /srv/app.git ", folder: "/home/ann/my app", name: "" };
    expect(nameOfMade("clone", place)).toBe("my app");
    expect(makeOf("clone", place)).toEqual({ clone: "/srv/app.git", folder: "/home/ann/my app" });
    expect(makeCli("clone", place)).toBe(
      "godel project create 'my app' --clone /srv/app.git --folder '/home/ann/my app'",
    );
    expect(makeCli("new", { url: "", folder: "", name: "" })).toBe(
      "godel project create NAME --new DIR",
    );
  });
});
