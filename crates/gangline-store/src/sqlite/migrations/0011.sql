-- Schema 11: what is watched. Findings, whispers, alerts, pauses, budgets. Times are microseconds since
-- 1970.

-- Findings: what waits for a human, or what a watchdog saw.

-- Whispers: what the agent alone is told.

-- Alerts: what a chat channel and programs outside are told.

-- Pauses and limits of providers' accounts.

-- Budgets and what was counted.
