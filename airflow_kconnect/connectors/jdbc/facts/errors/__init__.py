"""What errors mean in databases whose SQL states do not say it."""
