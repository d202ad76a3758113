-- Schema 12: an alert may have other words for the channel on IRC than for webhooks.
ALTER TABLE alerts ADD COLUMN room_text TEXT;
