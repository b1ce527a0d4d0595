import * as z from "zod/mini";

// Zod would try whether it may compile its checks, which the page's security policy forbids and reports. It comes before
// the contract, whose schemas ask as they are made.
z.config({ jitless: true });
