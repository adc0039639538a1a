rule report:
    input:
        expand(
            "results/{study}/{file}",
            study=FLOW.studies,
            file=["verdicts.csv", "facts.json", "timing.json", "figures/GA.svg"],
        ),
        FLOW.every_image,
        FLOW.analysis,
        FLOW.questions,
        FLOW.calibration,
        config=FLOW.config,
    output:
        page="results/report.html",
        cited=directory("results/cited"),
    log:
        "results/logs/report/report.log",
    params:
        studies=",".join(FLOW.studies),
    shell:
        "analysis/exec/report --results results --studies {params.studies} --config {input.config} --out {output.page} 2>&1 | tee {log}"


rule pdf:
    input:
        FLOW.sources("pdf"),
        page="results/report.html",
    output:
        "results/report.pdf",
    log:
        "results/logs/pdf/pdf.log",
    shell:
        "zassay pdf {input.page} --out {output} 2>&1 | tee {log}"
