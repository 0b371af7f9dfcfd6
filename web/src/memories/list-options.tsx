import { ListMemoriesRequest_Order as Order } from "../api";

/** Choice of the memories that a list shows, and of their order. */
export interface Listing {
  readonly order: Order;
  readonly includeSuperseded: boolean;
}

export const NEWEST: Listing = { order: Order.NEWEST_FIRST, includeSuperseded: false };

export interface ListOptionsProps {
  readonly listing: Listing;
  onChange(listing: Listing): void;
}

export function ListOptions({ listing, onChange }: ListOptionsProps) {
  return (
    <div className="list-options">
      <label htmlFor="list-order">Order</label>
      <select
        id="list-order"
        value={listing.order}
        onChange={({ target }) => onChange({ ...listing, order: Number(target.value) as Order })}
      >
        <option value={Order.NEWEST_FIRST}>Newest first</option>
        <option value={Order.OLDEST_FIRST}>Oldest first</option>
      </select>
      <label>
        <input
          type="checkbox"
          checked={listing.includeSuperseded}
          onChange={({ target }) => onChange({ ...listing, includeSuperseded: target.checked })}
        />{" "}
        Superseded ones, too
      </label>
    </div>
  );
}
