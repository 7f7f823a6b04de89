# Every target calls one script of infra/scripts; each says in its head what it does and which variables it reads.
.PHONY: help setup build test lint demo up down status bench contract simulate fuzz chaos backlog reconcile-drill flood clean
.DEFAULT_GOAL := help
scripts := infra/scripts

help:  ## prints this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

setup:  ## installs the Debian packages that are missing, checks Swift
	@$(scripts)/install-packages

build: setup  ## builds everything
	@$(scripts)/build

test:  ## runs every test against a RabbitMQ and a PostgreSQL of its own
	@$(scripts)/test

lint: setup  ## checks format, lengths, layering and everything else the compiler does not
	@$(scripts)/lint

demo:  ## builds, starts all of Purser and a simulated App Store, buys something, stops it again
	@$(scripts)/demo

up: build  ## starts all of Purser and a simulated App Store on this machine
	@$(scripts)/up

down:  ## stops it; what is stored stays in .local
	@$(scripts)/down

status:  ## shows what runs and whether it is ready
	@$(scripts)/status

bench:  ## measures a release build against the numbers it must reach; DURATION=60 ONLY=verify,grant,e2e,notify
	@DURATION='$(DURATION)' ONLY='$(ONLY)' CLIENTS='$(CLIENTS)' $(scripts)/bench

contract:  ## checks with schemathesis (PyPI) that the gateway answers as /openapi.json says; EXAMPLES=50 SEED=n
	@SEED='$(SEED)' EXAMPLES='$(EXAMPLES)' $(scripts)/contract

simulate: setup  ## runs schedules of lanes, broker and database in virtual time: SEEDS=100000 FIRST=1, SEED=n tells one in full
	@SEEDS='$(SEEDS)' FIRST='$(FIRST)' SEED='$(SEED)' MUTATION='$(MUTATION)' $(scripts)/simulate

fuzz: setup  ## damages inputs for DURATION seconds (300) and checks what must hold for each
	@$(scripts)/fuzz

chaos:  ## breaks everything while purchases flow, then proves the books: DURATION=120 (seconds) SEED=n (a random one)
	@$(scripts)/demo chaos $(or $(DURATION),120) $(SEED)

backlog:  ## measures how fast 20,000 queued purchases are worked off, against the steady rate
	@PURSER_CONFIGURATION=release $(scripts)/demo backlog $(COUNT)

reconcile-drill:  ## plants differences of every kind in a month of purchases; every one must be found: COUNT=100000 SEED=n
	@PURSER_CONFIGURATION=release $(scripts)/demo reconcile $(or $(COUNT),100000) $(SEED)

flood:  ## measures what a paying user notices of 200 hostile connections; writes .local/flood.json; PURCHASES=400
	@PURSER_CONFIGURATION=release $(scripts)/demo flood $(or $(PURCHASES),400) .local/flood.json

clean: down  ## stops everything and removes .local and .build
	@$(scripts)/test-services down
	@rm -rf .local .build
