-- Schema 12: an alert may have other words for the channel on IRC than for webhooks, and may be graver
-- than its event usually is. Both are NULL for the usual.
ALTER TABLE alerts ADD COLUMN room_text TEXT;
ALTER TABLE alerts ADD COLUMN severity TEXT;
