const PATHS = {
  start: "M5 3.500v13l11-6.500z",
  playground: "M4 5h12M4 10h7M4 15h9M15 12l3 3-3 3",
  memories: "M3.500 5.500h13v3h-13zM5 8.500v7.500h10V8.500M8 11.500h4",
  usage: "M4 16V9M8.500 16V4M13 16v-5M17 16V7",
  calls: "M4 5h2M9 5h7M4 10h2M9 10h7M4 15h2M9 15h7",
  keys: "M12.500 3.500a4 4 0 1 1-3.300 6.300L3.500 15.500v2h3v-2h2v-2l1.700-1.700M13.700 6.300h.01",
  account: "M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4 16.500c.5-3 2.800-4.500 6-4.500s5.500 1.500 6 4.500",
  docs: "M5 3.500h7l3.500 3.500v9.500H5zM12 3.500V7h3.500M7.500 10.500h5M7.500 13.500h5",
  book: "M10 5.500C8.500 4.300 6.300 4 3.500 4v11c2.800 0 5 .3 6.500 1.500C11.500 15.300 13.700 15 16.500 15V4c-2.800 0-5 .3-6.500 1.500zM10 5.500v11",
  copy: "M7 7h9v9H7zM4 13V4h9",
  check: "M4 10.500l4 4 8-9",
  alert: "M10 3.500l7.500 13h-15zM10 8.500v3.500M10 14.300v.2",
  close: "M5 5l10 10M15 5L5 15",
  download: "M10 3.500v9M6.500 9.500L10 13l3.500-3.500M4 16.500h12",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  menu: "M3.500 5.500h13M3.500 10h13M3.500 14.500h13",
  reset: "M4 8V4h4M16 12v4h-4M4 4l4.500 4.500M16 16l-4.500-4.500",
  leave: "M8 4H4v12h4M12.500 6.500L16 10l-3.500 3.500M16 10H8",
  trash: "M4 6h12M8 6V4h4v2M5.500 6l.7 10.500h7.600L14.500 6",
  rotate: "M16 10a6 6 0 1 1-1.800-4.300M16 3v3.500h-3.500",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon that stands next to words. Screen readers skip it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="logo-ground" />
      <path className="logo-lines" d="M16 16 8.500 10M16 16l8-5.500M16 16l-4 8.500M16 16l7.500 5" />
      <circle className="logo-heart" cx="16" cy="16" r="4" />
      <g className="logo-dots">
        <circle cx="8.500" cy="10" r="2.200" />
        <circle cx="24" cy="10.500" r="2.200" />
        <circle cx="12" cy="24.500" r="2.200" />
        <circle cx="23.500" cy="21" r="2.200" />
      </g>
    </svg>
  );
}
