"""Services that run Spark jobs, such as EMR Serverless: their API starts a job, not spark-submit."""
