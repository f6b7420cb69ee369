import type { ComponentProps, MouseEvent } from "react";
import { hrefOf } from "./match";
import { navigate, usePlace } from "./router";

interface LinkProps extends Omit<ComponentProps<"a">, "href"> {
  /** A place below `/dashboard`, such as `/agents/a1`. */
  to: string;
}

/** A link inside the dashboard; a new tab and a copied address work as everywhere. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const here = usePlace();
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    navigate(to);
  };
  return <a href={hrefOf(to, here)} onClick={follow} {...rest} />;
}
