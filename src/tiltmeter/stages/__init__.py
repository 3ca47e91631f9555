"""What a run goes through: plan, generate, label, discover, import; and the engine that asks for
them.
"""
