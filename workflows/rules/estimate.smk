rule figures:
    input:
        "results/{study}/dataset.csv",
        "results/{study}/plan.json",
        "studies/{study}/claims.yaml",
        "studies/{study}/figures.yaml",
        "studies/{study}/published.csv",
        FLOW.analysis,
    output:
        "results/{study}/figures/lint.json",
    log:
        "results/logs/figures/{study}.log",
    shell:
        "analysis/exec/figures --study-dir results/{wildcards.study} --claims studies/{wildcards.study}/claims.yaml --set data 2>&1 | tee {log}"


rule estimate:
    input:
        "results/{study}/dataset.csv",
        claims="studies/{study}/claims.yaml",
        lint="results/{study}/figures/lint.json",
    output:
        "results/{study}/estimates.csv",
        "results/{study}/verdicts.csv",
    log:
        "results/logs/estimate/{study}.log",
    shell:
        "analysis/exec/estimate --study-dir results/{wildcards.study} --claims {input.claims} --lint {input.lint} 2>&1 | tee {log}"


rule forest:
    input:
        "results/{study}/verdicts.csv",
        "results/{study}/estimates.csv",
        claims="studies/{study}/claims.yaml",
    output:
        multiext("results/{study}/figures/GA", ".svg", ".pdf", ".png", ".json"),
    log:
        "results/logs/forest/{study}.log",
    shell:
        "analysis/exec/figures --study-dir results/{wildcards.study} --claims {input.claims} --set claims 2>&1 | tee {log}"
