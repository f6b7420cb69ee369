import type { ComponentProps } from "react";
import styles from "./Button.module.css";
import { classes } from "./classes";

interface ButtonProps extends ComponentProps<"button"> {
  look?: "solid" | "line" | "quiet" | "bad";
  /** `small` for rows and bars. */
  size?: "normal" | "small";
  /** Only an icon inside; it needs an `aria-label`. */
  isIcon?: boolean;
}

/** A button in one of four looks. */
export function Button({
  look = "line",
  size = "normal",
  isIcon = false,
  className,
  type = "button",
  ...rest
}: ButtonProps) {
  const names = classes(
    styles.button,
    styles[look],
    size === "small" && styles.small,
    isIcon && styles.icon,
    className,
  );
  return <button type={type} className={names} {...rest} />;
}
