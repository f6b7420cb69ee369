import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { Told } from "./Told";

describe("a line that the server tells", () => {
  it("G13 has its times and ids as they are everywhere", () => {
    const commit = "94fa8d8df049b1d6e4d65b7e76b2857f4d5f9881";
    render(
      <p>
        <Told text={`godel-ds9d2 claimed until 2090-11-19T07:06:11Z at ${commit}`} />
      </p>,
    );
    expect(screen.getByText(/^in \d+y$/).getAttribute("datetime")).toBe("2090-11-19T07:06:11Z");
    expect(screen.getByTitle(`Copy ${commit}`)).toBeTruthy();
    expect(screen.getByText(/godel-ds9d2 claimed until/)).toBeTruthy();
  });

  it("is a plain text without them", () => {
    render(<p>{<Told text="godel-ds9d2 was closed" />}</p>);
    expect(screen.getByText("godel-ds9d2 was closed").children).toHaveLength(0);
  });
});
