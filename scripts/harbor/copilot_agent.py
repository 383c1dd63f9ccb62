"""copilot as an agent of the Harbor benchmark harness (PyPI `harbor`, 0.24): see docs/harbor.md.

Harbor's own client of the Agent Client Protocol drives `copilot acp` in the container of a task, answers
its questions, and writes the trajectory. This puts the program there, and says with which flags it starts.
"""

import shlex
from pathlib import Path

from harbor.agents.installed.acp import AcpAgent, AcpOptions
from harbor.environments.base import BaseEnvironment
from pydantic import Field

BINARY = "/usr/local/bin/copilot"


class CopilotOptions(AcpOptions):
    binary: str = Field(
        default="dist/copilot",
        description="The compiled program, for the system of the containers.",
    )
    flags: str = Field(
        default="", description="Flags of copilot, such as --base-url URL."
    )


class Copilot(AcpAgent):
    options_model = CopilotOptions

    def __init__(
        self, *args, binary: str = "dist/copilot", flags: str = "", **kwargs
    ) -> None:
        # The container is the sandbox, and nobody is there to choose a mode.
        words = ["acp", *shlex.split(flags)]
        for flag, value in {"--approve": "auto", "--sandbox": "off"}.items():
            if not any(word.split("=")[0] == flag for word in words):
                words += [flag, value]
        entry = {
            "id": "copilot",
            "name": "copilot",
            "version": "0.1.0",
            "description": "A coding agent for models of one's own",
            "distribution": {"local": {"cmd": BINARY, "args": words}},
        }
        kwargs = {**kwargs, "registry_entry": entry}
        super().__init__(*args, **kwargs)
        self._binary = Path(binary)

    @staticmethod
    def name() -> str:
        return "copilot"

    async def install(self, environment: BaseEnvironment) -> None:
        if not self._binary.is_file():
            raise FileNotFoundError(
                f"{self._binary} is not there: make it with scripts/compile, "
                "or name it with --ak binary=PATH"
            )
        await environment.upload_file(self._binary, BINARY)
        await environment.exec(f"chmod 755 {BINARY}", user="root")
        await super().install(environment)
