import { beforeEach, describe, expect, it } from "vitest";
import { readDraft, returnDraft, writeDraft } from "./useDraft";

const SENT = { name: "words", text: "first" };

beforeEach(() => sessionStorage.clear());

describe("what was sent and refused", () => {
  it("is a draft again, before what was written since", () => {
    returnDraft(SENT);
    expect(readDraft("words")).toBe("first");
    writeDraft("words", "second");
    returnDraft(SENT);
    expect(readDraft("words")).toBe("first\nsecond");
  });

  it("is there once, however often it is tried again", () => {
    returnDraft(SENT);
    returnDraft(SENT);
    expect(readDraft("words")).toBe("first");
    writeDraft("words", "first\nsecond");
    returnDraft(SENT);
    expect(readDraft("words")).toBe("first\nsecond");
  });

  it("does not touch a form that is being filled in anew", () => {
    writeDraft("words", '{"name":"b"}');
    returnDraft({ name: "words", text: '{"name":"a"}', isForm: true });
    expect(readDraft("words")).toBe('{"name":"b"}');
  });
});
