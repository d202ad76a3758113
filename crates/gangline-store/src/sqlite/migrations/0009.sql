-- Schema 9: how a send is said (`lines` or `whole`, from its first time on), and where one of its lines
-- goes on the one before it: `word` inside a word, `space` where a space was cut out.
ALTER TABLE outbox ADD COLUMN sent_as TEXT;
ALTER TABLE outbox ADD COLUMN goes_on TEXT;
-- What was said before was said line by line.
UPDATE outbox SET sent_as = 'lines' WHERE attempts > 0;
