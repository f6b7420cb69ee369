import { Component, type ReactNode } from "react";
import { ErrorPanel } from "./ErrorPanel";

/** The code of something could not be fetched; trying again means to reload the page. */
export class CodeGone extends Error {
  override name = "CodeGone";
}

interface BoundaryProps {
  /** What is inside, for the message: "the list of agents". */
  what: string;
  children: ReactNode;
}

/** Keeps a failure inside to this part of the page; everything around goes on. */
export class Boundary extends Component<BoundaryProps, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <ErrorPanel
        what={`${this.props.what} could not be shown; what you have written is kept`}
        error={error}
        onRetry={() => {
          if (error instanceof CodeGone) window.location.reload();
          else this.setState({ error: undefined });
        }}
      />
    );
  }
}
