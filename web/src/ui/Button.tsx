import type { ComponentProps } from "react";
import styles from "./Button.module.css";

interface ButtonProps extends ComponentProps<"button"> {
  look?: "solid" | "line" | "quiet";
}

export function Button({ look = "line", className, type = "button", ...rest }: ButtonProps) {
  const classes = [styles.button, styles[look], className].filter(Boolean).join(" ");
  return <button type={type} className={classes} {...rest} />;
}
