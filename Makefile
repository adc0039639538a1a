# Thin on purpose: each line can be pasted into a shell.
.PHONY: help run test demonstration setup setup-test lint bench calibrate images image-twice clean
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/.venv/bin:$(PATH)

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: ## install what is missing, measure, and write results/report.html
	tools/setup run
	.venv/bin/snakemake --cores 4

test: ## install what is missing, and run every linter and test
	tools/setup test
	Rscript analysis/tests/run.R
	.venv/bin/pytest

demonstration: ## rebuild the bundle of the recorded campaign: no virtual machine, no root
	tools/demonstrate

setup: ## only install what `make run` needs
	tools/setup run

setup-test: ## only install what `make test` needs
	tools/setup test

lint: setup-test ## only the linters
	.venv/bin/pytest -q tests/test_linters.py tests/test_one_place.py

bench: setup ## measure the pipeline's own speed and write a table
	.venv/bin/python bench/run.py $(ARGS)

calibrate: setup ## check the statistics against simulated campaigns (an hour) and write results/calibration.html
	analysis/exec/calibrate $(ARGS)

images: setup ## list the images and which are built
	.venv/bin/zassay image list

image-twice: setup ## build the base of an image twice and compare the sha256
	.venv/bin/zassay image twice debian-12

clean: ## remove the environments and the tools' caches; results stay
	rm -rf .venv .venv-validators .venv-cffconvert .snakemake .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
