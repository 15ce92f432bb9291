"""What is written about a run for people and machines that did not watch it: pure functions of the run document."""
