"""Where rows are kept: the Store protocol and the databases behind it."""
