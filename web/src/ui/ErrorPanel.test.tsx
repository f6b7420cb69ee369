import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { ApiError } from "../api/client";
import { detailsOf, ErrorPanel } from "./ErrorPanel";

const TRACE = "0123456789abcdef0123456789abcdef";
const body = { code: "unavailable", message: "the disk is full" };
const link = () => screen.getByRole("link").getAttribute("href");

it("G9 what failed leads to the events of its own request", () => {
  const error = new ApiError(503, body, "req-7", TRACE);
  render(<ErrorPanel what="The agents could not be loaded" error={error} />);
  screen.getByText("Request req-7");
  screen.getByText("Look at its events");
  expect(link()).toBe(`/dashboard/?trace=${TRACE}`);
  expect(detailsOf("The agents", error)).toContain(`trace ${TRACE}`);
});

it("G9 what belongs to no request leads to all events", () => {
  render(<ErrorPanel what="The page" error={new Error("it broke")} />);
  screen.getByText("Look at the events");
  expect(link()).toBe("/dashboard/");
});
