-- How likely the first quotation of a generated text is to answer the question, 0 to 1; NULL for text that a model wrote.
ALTER TABLE queries ADD COLUMN evidence DOUBLE PRECISION;
