import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render as renderAlone, screen } from "@testing-library/react";
import { type ReactNode, useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { useKeys } from "../../actions/listener";
import { newQueryClient } from "../../queryClient";
import { BulkBar } from "./BulkBar";
import { type Column, DataTable } from "./DataTable";

interface Thing {
  id: string;
  size: number;
}

const COLUMNS: Column<Thing>[] = [
  { id: "id", title: "Name", width: "100px", cell: (row) => row.id, always: true },
  {
    id: "size",
    title: "Size",
    width: "80px",
    cell: (row) => row.size,
    sortBy: (row) => row.size,
    isNumber: true,
  },
];
const THINGS = Array.from({ length: 10_000 }, (_, at) => ({ id: `t${at}`, size: 10_000 - at }));

function Page({
  onPeek,
  onOpen,
}: {
  onPeek?: (row: Thing) => void;
  onOpen?: (row: Thing) => void;
}) {
  useKeys();
  return (
    <DataTable
      label="Things"
      noun="thing"
      columns={COLUMNS}
      rows={THINGS}
      keyOf={(row) => row.id}
      {...(onPeek && { onPeek })}
      {...(onOpen && { onOpen })}
      bulk={(selection, clear) => (
        <BulkBar count={selection.length} noun="thing" onClear={clear}>
          <span />
        </BulkBar>
      )}
    />
  );
}

const client = newQueryClient();
const Around = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
);
const render = (part: ReactNode) => renderAlone(part, { wrapper: Around });
const press = (key: string) => fireEvent.keyDown(document.body, { key });
const names = () => screen.getAllByRole("row").map((row) => row.getAttribute("data-row"));

beforeEach(() => window.history.replaceState(null, "", "/dashboard/things"));

describe("a table", () => {
  it("draws the row that changed again, and no other", () => {
    const drawn: string[] = [];
    const cell = (row: Thing) => {
      drawn.push(row.id);
      return row.size;
    };
    const columns: Column<Thing>[] = [{ id: "size", title: "Size", width: "80px", cell }];
    const keyOf = (row: Thing) => row.id;
    const table = (rows: readonly Thing[]) => (
      <DataTable label="Things" noun="thing" columns={columns} rows={rows} keyOf={keyOf} />
    );
    const { rerender } = render(table(THINGS));
    drawn.length = 0;
    rerender(table(THINGS.with(2, { id: "t2", size: 5 })));
    expect(drawn).toEqual(["t2"]);
  });

  it("G1 draws few of ten thousand rows, and says how many there are", () => {
    render(<Page />);
    expect(screen.getAllByRole("row").length).toBeLessThan(200);
    expect(screen.getByRole("grid").getAttribute("aria-rowcount")).toBe("10001");
  });

  it("G2 sorts by a column, and the address knows", () => {
    render(<Page />);
    fireEvent.click(screen.getByRole("button", { name: "Size" }));
    expect(window.location.search).toBe("?sort=size");
    expect(names()[1]).toBe("t9999");
    expect(screen.getByRole("columnheader", { name: "Size" }).getAttribute("aria-sort")).toBe(
      "ascending",
    );
    fireEvent.click(screen.getByRole("button", { name: "Size" }));
    expect(window.location.search).toBe("?sort=-size");
    expect(names()[1]).toBe("t0");
  });

  it("G16 is used by keys: j and k move, x selects, Space peeks, Enter opens", () => {
    const onPeek = vi.fn();
    const onOpen = vi.fn();
    render(<Page onPeek={onPeek} onOpen={onOpen} />);
    press("j");
    press("j");
    press("k");
    press("x");
    expect(screen.getByText("1 thing selected")).toBeTruthy();
    press("j");
    press(" ");
    press("Enter");
    expect(onPeek.mock.calls.flat()).toEqual([THINGS[1]]);
    expect(onOpen.mock.calls.flat()).toEqual([THINGS[1]]);
  });

  describe("keeps still under a cursor that keys have set", () => {
    const COLD = { id: "cold", size: 1 };
    const WARM = { id: "warm", size: 2 };
    const NEW = { id: "new", size: 3 };

    function Changing() {
      useKeys();
      const [rows, setRows] = useState([COLD, WARM]);
      return (
        <>
          <button type="button" onClick={() => setRows([NEW, WARM, COLD])}>
            Change
          </button>
          <DataTable
            label="Things"
            noun="thing"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
          />
        </>
      );
    }

    const shown = () => names().slice(1);
    const change = () => fireEvent.click(screen.getByRole("button", { name: "Change" }));
    const cursor = () => document.querySelector("[data-cursor]")?.getAttribute("data-row");

    beforeEach(() => {
      render(<Changing />);
      press("j");
      change();
      expect(shown()).toEqual(["cold", "warm"]);
      expect(cursor()).toBe("cold");
    });

    it("until Esc leaves it", () => {
      press("Escape");
      expect(shown()).toEqual(["new", "warm", "cold"]);
      expect(cursor()).toBeUndefined();
    });

    it("until somebody presses elsewhere", () => {
      fireEvent.pointerDown(document.body);
      expect(shown()).toEqual(["new", "warm", "cold"]);
    });

    it("and lets in what is new when asked", () => {
      fireEvent.click(screen.getByRole("button", { name: "1 new thing" }));
      expect(shown()).toEqual(["new", "warm", "cold"]);
      expect(cursor()).toBe("cold");
    });
  });
});
